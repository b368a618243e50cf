import { testFaults } from './test-faults.ts';

// In more places: device-faults.long.test.ts
testFaults([
  ['text', 'createBuffer', 'refuse', 'beside', 12],
  ['training', 'createBuffer', 'refuse', 'beside', 10],
  ['training', 'submit', 'lose', 'alone', 7],
  ['training', 'mapAsync', 'lose', 'alone', 6],
]);
