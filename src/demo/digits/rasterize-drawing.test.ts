import { describe, expect, test } from 'vitest';
import { IMAGE_SIZE, rasterizeDrawing } from './rasterize-drawing.ts';

const line = [
  { x: 100, y: 40 },
  { x: 100, y: 240 },
];

function inkRange(image: Float32Array): { rows: [number, number]; columns: [number, number] } {
  const inked = [...image.keys()].filter((index) => (image[index] ?? 0) > 0.5);
  const rows = inked.map((index) => Math.floor(index / IMAGE_SIZE));
  const columns = inked.map((index) => index % IMAGE_SIZE);
  return {
    rows: [Math.min(...rows), Math.max(...rows)],
    columns: [Math.min(...columns), Math.max(...columns)],
  };
}

describe('rasterizeDrawing', () => {
  test('gives nothing for an empty drawing', () => {
    expect(rasterizeDrawing({ strokes: [], penRadius: 10 })).toBeUndefined();
    expect(rasterizeDrawing({ strokes: [[]], penRadius: 10 })).toBeUndefined();
  });

  test('scales the ink to 20 pixels and puts it in the middle', () => {
    const image = rasterizeDrawing({ strokes: [line], penRadius: 10 });
    expect(inkRange(image ?? new Float32Array())).toEqual({ rows: [4, 23], columns: [13, 14] });
  });

  test('does not depend on where and how large one draws', () => {
    const small = line.map(({ x, y }) => ({ x: x / 2 + 17, y: y / 2 - 5 }));
    const image = rasterizeDrawing({ strokes: [line], penRadius: 10 });
    const other = rasterizeDrawing({ strokes: [small], penRadius: 5 });
    for (const [index, ink] of (image ?? []).entries()) expect(other?.[index]).toBeCloseTo(ink, 4);
  });

  test('a dot is a disc in the middle', () => {
    const image = rasterizeDrawing({ strokes: [[{ x: 3, y: 7 }]], penRadius: 4 });
    const { rows, columns } = inkRange(image ?? new Float32Array());
    expect(rows).toEqual(columns);
    expect((rows[0] + rows[1]) / 2).toBe((IMAGE_SIZE - 1) / 2);
  });
});
