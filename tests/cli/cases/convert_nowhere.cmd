mxprof convert sample.mxp
