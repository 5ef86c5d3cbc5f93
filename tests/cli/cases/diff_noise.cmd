mxprof diff --noise several
