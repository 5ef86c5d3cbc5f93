mxprof recover cut_before_end.mxp -o out.mxp; mxprof info out.mxp | head -3
