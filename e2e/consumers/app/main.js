import { check } from './check.js';

void check(new URL('/models/', location.href)).then((outcome) => {
  globalThis.outcome = outcome;
});
