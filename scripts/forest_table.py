#!/usr/bin/env python3
"""Writes loop/benchmarks/rahbo/data/forest.csv: how well random forests of different settings
classify, and how much that scatters.

    python3 -m venv v && v/bin/pip install scikit-learn
    v/bin/python scripts/forest_table.py > loop/benchmarks/rahbo/data/forest.csv

Data: the Wisconsin diagnostic breast cancer data that scikit-learn carries (569 cases, 30 features;
W. H. Wolberg, O. L. Mangasarian, N. Street and W. Street, UCI Machine Learning Repository, 1993,
doi 10.24432/C5DW2B, CC BY 4.0). As in Makarova et al. (NeurIPS 2021), who take transactions of credit
cards, a forest learns one half of the data and is judged on five folds of the other; the score is the
balanced accuracy less one. Halves, folds and forests are drawn anew in each repetition. Each row:
the setting, and mean and standard deviation of the scores of all folds.
"""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, train_test_split

REPETITIONS = 4
TREES = (1, 3, 8, 20)
FEATURES = (5, 10, 15, 20, 28)
DEPTHS = (1, 2, 4, 8, 15)


def scores(trees, features, depth, x, y):
    out = []
    for seed in range(REPETITIONS):
        # A half and its folds are the same for all settings: differences are of the settings.
        x1, x2, y1, y2 = train_test_split(x, y, test_size=0.5, stratify=y, random_state=seed)
        forest = RandomForestClassifier(trees, max_features=features, max_depth=depth, random_state=seed, n_jobs=1)
        said = forest.fit(x1, y1).predict(x2)
        for _, fold in StratifiedKFold(5, shuffle=True, random_state=seed).split(x2, y2):
            out.append(balanced_accuracy_score(y2[fold], said[fold]) - 1)
    return np.array(out)


def main():
    x, y = load_breast_cancer(return_X_y=True)
    print("n_estimators,max_features,max_depth,mean,sd")
    for trees in TREES:
        for features in FEATURES:
            for depth in DEPTHS:
                s = scores(trees, features, depth, x, y)
                print(f"{trees},{features},{depth},{s.mean():.6f},{s.std(ddof=1):.6f}")
                sys.stdout.flush()


main()
