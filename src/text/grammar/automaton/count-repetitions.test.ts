import { expect, test } from 'vitest';
import { buildAutomaton } from './automaton.ts';
import { rulesOf } from '../compile-grammar.ts';

test.each([['"[a-z]{0,50000}"'], ['([^"]{8,1000000}")*'], ['[a-z]{3,60000},[0-9]{20,},x']])(
  '%s needs few states',
  (regex) => {
    expect(buildAutomaton(rulesOf({ regex })).stateCount).toBeLessThan(30);
  },
);

test.each([
  ['[a-z]{0,100}a', 'the end is one of the characters'],
  ['[a-z]{0,100}', 'there is no end'],
  ['(?:ab|abc){0,100}"', 'a unit is the start of another one'],
  ['(?:[a-z]|"x){0,100}"', 'a unit begins as the end'],
])('%s is written out: %s', (regex) => {
  expect(buildAutomaton(rulesOf({ regex })).stateCount).toBeGreaterThan(100);
});
