mxprof convert -oout.csv sample.mxp && cat out.csv
