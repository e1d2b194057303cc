package vec

// The generator is a module of its own: the product does not depend on avo.
//
//go:generate go -C ../gen run . ../vec
