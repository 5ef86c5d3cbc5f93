mxprof info text.mxp
