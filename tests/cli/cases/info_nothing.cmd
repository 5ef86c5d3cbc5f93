mxprof info nothing.mxp
