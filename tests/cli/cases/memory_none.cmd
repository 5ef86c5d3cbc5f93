mxprof memory sample.mxp
