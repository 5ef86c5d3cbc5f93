mxprof report --csv sample.mxp
