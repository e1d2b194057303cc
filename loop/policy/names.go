package policy

// Names that a specification uses.
const (
	kindRAHBO  = "rahbo"
	kindGPUCB  = "gp-ucb"
	kindUCBCVS = "ucb-cvs"
	kindRandom = "random"
	kindSobol  = "sobol"
	kindTrack  = "track"

	varianceLog = "log"
	varianceRaw = "raw"

	scheduleETC50   = "etc-50"
	scheduleETC100  = "etc-100"
	scheduleETCAda  = "etc-ada"
	scheduleAuto    = "auto"
	scheduleEpsilon = "epsilon"
	scheduleNone    = "none"

	transformNone   = "none"
	transformLearnt = "learnt"

	stalledExplore = "explore"
	stalledRepeat  = "repeat"

	regionTrust = "trust"
	regionWhole = "whole"

	recommendedMeasured = "measured"
	recommendedModel    = "model"

	designSobol  = "sobol"
	designRandom = "random"
)
