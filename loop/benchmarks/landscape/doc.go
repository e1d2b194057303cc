// Package landscape has the functions that several experiments are made of, and what is known
// about them without noise: sums of Gaussians with their expectations in closed form, Branin's
// function, a truncated normal distribution, and a slow, sure search for a maximum (Hill).
package landscape
