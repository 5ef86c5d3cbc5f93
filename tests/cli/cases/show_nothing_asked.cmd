mxprof show sample.mxp
