mxprof report empty.mxp
