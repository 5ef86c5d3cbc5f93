mxprof convert sample.mxp -o out.dat
