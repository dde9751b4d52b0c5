import { setFlagsFromString } from 'node:v8';

// Where there is room V8 lets garbage lie for long: with this the peak shows what is used.
setFlagsFromString('--optimize-for-size');
