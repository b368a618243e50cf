import { expect, test } from 'vitest';
import {
  type Count,
  engineTable,
  type EngineResult,
  failuresOf,
  refusalsThatDiffer,
} from './engine-result.ts';

const passed = (total: number): Count => ({ passed: total, total, failures: [] });

function result(title: string, counts: Partial<EngineResult> = {}): EngineResult {
  return {
    title,
    facts: {
      adapter: 'llvmpipe',
      adapterClass: 'software',
      hasFloat16: true,
      hasSubgroups: false,
      hasTimestamps: true,
    },
    operators: passed(7),
    ownModels: passed(3),
    sharedModels: undefined,
    onnxCases: undefined,
    browserTests: undefined,
    ...counts,
  };
}

test('a line for each engine, and a dash for what was not run', () => {
  const failed = { passed: 4, total: 5, failures: ['test_add: wrong'] };
  const refused = { ...passed(9), refused: ['test_string'] };
  const results = [
    result('A', { sharedModels: passed(2), onnxCases: refused }),
    result('B', { browserTests: failed }),
  ];
  expect(engineTable(results).split('\n').slice(2)).toEqual([
    '| A | llvmpipe, as software | yes | no | yes | all 7 | all 9; 1 refused | all 5 | – |',
    '| B | llvmpipe, as software | yes | no | yes | all 7 | – | all 3 | 4 of 5 |',
  ]);
  expect(results.flatMap(failuresOf)).toEqual(['B: test_add: wrong']);
});

test('an engine that refuses other cases than the first is told of', () => {
  const refusing = (title: string, ...refused: string[]) =>
    result(title, { onnxCases: { ...passed(2), refused } });
  expect(refusalsThatDiffer([refusing('A', 'x'), refusing('B', 'x')])).toEqual([]);
  expect(refusalsThatDiffer([refusing('A', 'x'), refusing('B', 'y')])).toEqual([
    'B: y, x: refused either here or in A',
  ]);
});
