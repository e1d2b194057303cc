// Package foreign tries tuner on instruments that others wrote, as whole programs that run on
// this computer. They need Python packages (requirements.txt): TUNER_FOREIGN_PYTHON names the
// interpreter that has them. Without it nothing is run, and the tests say so.
package foreign
