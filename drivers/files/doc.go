// Package files makes an instrument of an experiment that exchanges two text files,
// as users of M-LOOP know it: a program in LabVIEW, MATLAB or anything else that can
// read and write a file.
//
// # The exchange
//
// The host writes the next parameters into the input file. The experiment reads
// and deletes it, runs, and writes the output file; the host reads and deletes that.
// The names are the experiment's: its input, its output.
//
//	exp_input.txt     params = array([1.5, -20.0])
//	exp_output.txt    cost = 0.5
//	                  uncer = 0.01
//	                  bad = false
//
// One line is one assignment; blanks, blank lines and text from "#" on do not count.
// "uncer", the standard deviation of the cost, and "bad" may be left out, and "cost"
// too where bad is true. Other keys are ignored.
//
// # What is a setting here
//
// A parameter acts only while the experiment runs. So a write keeps the values, and
// the first read of the cost after it begins a run: everything else has settled by
// then. Each further shot is another run with the same parameters. A cost that was
// measured with other parameters than the latest is dropped, never scored. After a
// bad run nothing runs before the next write: the step has no data.
//
// Nothing is held between runs, so to go safe means that no further run begins: an
// input that the experiment has not taken is withdrawn, a run that goes on is waited
// for.
//
// # Traps
//
// An output that is still being written would be read cut off ("0.5" of "0.53"): it is
// read once it has not changed for Options.Quiet. Files that an earlier run left behind
// would be taken for the first answer: Open moves them aside. Two hosts on one folder
// would take each other's answers: the folder is locked where its file system can.
package files
