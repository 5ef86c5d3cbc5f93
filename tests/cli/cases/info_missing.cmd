mxprof info missing.mxp
