"""Performance profiles as SVG, without a package."""

from html import escape

import summary

COLOURS = ("#0b5fa5", "#c2410c", "#15803d", "#7e22ce", "#b91c1c", "#0f766e", "#a16207", "#475569", "#be185d", "#1d4ed8")
WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 240, 52, 40, 34


def profiles(results):
    """Three panels, solved to 1, 5 and 10 %, and the peers' names."""
    across = LEFT + len(summary.SHARES) * (WIDTH + GAP) + 130
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {TOP + HEIGHT + 60}" font-family="sans-serif" font-size="12">',
             f'<rect width="{across}" height="{TOP + HEIGHT + 60}" fill="white"/>']
    for i, share in enumerate(summary.SHARES):
        parts += panel(results, share, LEFT + i * (WIDTH + GAP), first=i == 0)
    for i, peer in enumerate(results.peers):
        y, x = TOP + 12 + 18 * i, LEFT + len(summary.SHARES) * (WIDTH + GAP) - 10
        parts.append(f'<line x1="{x}" x2="{x + 20}" y1="{y}" y2="{y}" stroke="{COLOURS[i % len(COLOURS)]}" stroke-width="2"{dash(i)}/>')
        parts.append(f'<text x="{x + 26}" y="{y + 4}">{escape(peer)}</text>')
    return "\n".join(parts + ["</svg>"]) + "\n"


def dash(i):
    return ' stroke-dasharray="6 3"' if i >= len(COLOURS) else ""


def panel(results, share, left, first):
    parts = [f'<text x="{left}" y="{TOP - 14}" font-weight="bold">solved to {100 * share:g} % of the scale</text>']
    for k in range(6):
        y = TOP + HEIGHT - HEIGHT * k / 5
        parts.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        if first:
            parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{20 * k} %</text>')
        parts.append(f'<text x="{left + WIDTH * k / 5}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{k / 5:g}</text>')
    parts.append(f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">share of the budget spent</text>')
    for i, peer in enumerate(results.peers):
        path, height = f"M {left} {TOP + HEIGHT}", 0.0
        for cost, solved in summary.profile(results, peer, share):
            x = left + WIDTH * min(cost, 1)
            path += f" L {x:.1f} {TOP + HEIGHT * (1 - height):.1f} L {x:.1f} {TOP + HEIGHT * (1 - solved):.1f}"
            height = solved
        path += f" L {left + WIDTH} {TOP + HEIGHT * (1 - height):.1f}"
        parts.append(f'<path d="{path}" fill="none" stroke="{COLOURS[i % len(COLOURS)]}" stroke-width="2"{dash(i)}/>')
    return parts
