import { expose } from 'comlink';
import { compileProgram } from './compile-program.ts';

expose(compileProgram);
