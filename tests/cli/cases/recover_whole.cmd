mxprof recover sample.mxp -o out.mxp && mxprof report sample.mxp | tail -n +2 > a && mxprof report out.mxp | tail -n +2 > b && cmp a b
