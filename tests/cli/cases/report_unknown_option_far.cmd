mxprof report --quiet sample.mxp
