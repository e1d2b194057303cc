// Package plan is what a run is to do, as plain data and pure functions: nothing in it
// waits, or knows a device.
//
//   - [Options] describe the instrument, the objective and when to stop; [SafetyLimits]
//     are what the safety layer keeps to.
//   - [Decide] makes a [Step] of a proposal: what the safety layer lets through, where
//     each variable goes, what it costs. [Shots] are what the step measures.
//   - A step's value is a [Statistic] of its shots, and [Options.Observations] are the
//     step as the model sees it.
//   - [Step.Charge] says what a step is charged; a [Ledger] adds up the run, in exact
//     billionths of the cost unit ([Money]).
//   - [Options.Compare] evaluates the comparison of the recommended with the starting
//     setting, by the sign-flip test.
package plan
