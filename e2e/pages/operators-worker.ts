import { serveOperators } from './serve-operators.ts';

serveOperators();
