import { describe, expect, test } from 'vitest';
import { clipped, overlap, type ScoredBox, suppress } from './boxes.ts';
import { activate, areProbabilities, topLabels } from './labels.ts';

describe('labels', () => {
  test('the likeliest first, of equal ones the first class first', () => {
    const labels = ['a', 'b', 'c', 'd'];
    expect(topLabels([0.1, 0.4, 0.1, 0.4], { topK: 3, labels })).toEqual([
      { label: 'b', index: 1, score: 0.4 },
      { label: 'd', index: 3, score: 0.4 },
      { label: 'a', index: 0, score: 0.1 },
    ]);
    expect(topLabels([1], {})).toEqual([{ label: '0', index: 0, score: 1 }]);
  });

  test('softmax of large numbers, and sigmoid', () => {
    const scores = activate([1000, 1000 + Math.log(3)], 'softmax');
    expect(scores[0]).toBeCloseTo(0.25, 12);
    expect(scores[1]).toBeCloseTo(0.75, 12);
    expect(activate([0, Math.log(4)], 'sigmoid')).toEqual(Float64Array.of(0.5, 0.8));
    expect(activate([3], 'none')).toEqual(Float64Array.of(3));
  });

  test('probabilities are told from what softmax is still due to', () => {
    expect(areProbabilities([0.25, 0.5, 0.25])).toBe(true);
    expect(areProbabilities(Float32Array.of(0.7, 0.2, 0.1))).toBe(true);
    expect(areProbabilities([0.2495, 0.5, 0.25])).toBe(true);
    expect(areProbabilities([0.3, 0.5, 0.25])).toBe(false);
    expect(areProbabilities([1.5, -0.5])).toBe(false);
    expect(areProbabilities([Number.NaN, 1])).toBe(false);
    expect(areProbabilities([])).toBe(false);
    // Of 1,000 classes, each in 8 bits.
    const rounded = Array.from({ length: 1000 }, (_, i) =>
      i === 7 ? 0.5 : i % 4 === 0 ? 1 / 256 : 0,
    );
    expect(areProbabilities(rounded)).toBe(true);
    expect(areProbabilities(rounded.map((value) => value * 12))).toBe(false);
    // Of as many, before softmax: equal ones, and some that are not negative.
    expect(areProbabilities(rounded.map(() => 0))).toBe(false);
    expect(areProbabilities(rounded.map((value) => value * 0.9))).toBe(false);
  });

  test('as many names as classes', () => {
    expect(() => topLabels([1, 2, 3], { labels: ['a'] })).toThrow(
      'labels: got 1 names, expected 3, one for each class of the model. Give the option labels, or id2label in config.json, in the order of the classes.',
    );
  });
});

describe('boxes', () => {
  const boxAt = (left: number, score: number, index = 0): ScoredBox => ({
    box: { left, top: 0, width: 10, height: 10 },
    score,
    index,
  });

  test('overlap is the shared part of both', () => {
    expect(overlap(boxAt(0, 1).box, boxAt(5, 1).box)).toBeCloseTo(50 / 150, 12);
    expect(overlap(boxAt(0, 1).box, boxAt(10, 1).box)).toBe(0);
    const none = { left: 0, top: 0, width: 0, height: 0 };
    expect(overlap(none, none)).toBe(0);
  });

  test('the best of boxes that overlap stays, of each class', () => {
    const boxes = [boxAt(0, 0.6), boxAt(2, 0.9), boxAt(4, 0.5), boxAt(3, 0.7, 1)];
    expect(suppress(boxes, 0.5).map(({ score }) => score)).toEqual([0.9, 0.7]);
    // Of the third box 8 of 12 columns are shared with the second.
    expect(suppress(boxes, 0.67).map(({ score }) => score)).toEqual([0.9, 0.7, 0.6, 0.5]);
  });

  test('a box ends at the edge of its picture', () => {
    expect(clipped({ left: -5, top: 8, width: 10, height: 10 }, { width: 20, height: 12 })).toEqual(
      {
        left: 0,
        top: 8,
        width: 5,
        height: 4,
      },
    );
  });
});
