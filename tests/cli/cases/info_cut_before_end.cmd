mxprof info cut_before_end.mxp
