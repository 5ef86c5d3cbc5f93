mxprof recover sample.mxp -o ./sample.mxp
