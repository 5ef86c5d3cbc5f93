mxprof info cut_in_header.mxp
