mxprof info empty.mxp
