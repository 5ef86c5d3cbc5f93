sleep 60 & mxprof snapshot $! 2>&1 | sed "s/$!/PID/"; kill -0 $! && kill $!
