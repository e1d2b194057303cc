// Package space has what may be proposed and what happens by itself: variables with their
// ranges and values ([Axis]), the settings of one control set ([Domain]) and parts of them
// ([Region]), and the [RandomVariables]: what variables do when they are left random, with the
// nodes of expectations over them. Inside, every variable has unit coordinates.
package space
