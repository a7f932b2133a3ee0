// The program for node sees the environment, as others do.
Module.preRun = () => Object.assign(ENV, process.env);
