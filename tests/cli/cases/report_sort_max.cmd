mxprof report sample.mxp --sort max
