package vec

// The generator is a separate module: the product does not depend on avo.
//
//go:generate go -C ../gen run . ../vec
