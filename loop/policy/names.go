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

	transformAuto   = "auto"
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
