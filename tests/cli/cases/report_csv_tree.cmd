mxprof report --csv --tree sample.mxp
