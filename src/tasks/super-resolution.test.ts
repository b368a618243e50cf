import { expect, test } from 'vitest';
import { superResolution, type SuperResolutionOptions } from './index.ts';
import { resize } from './pictures/resize.ts';
import { doubled } from './testing/doubled-model.ts';
import { formulaPicture } from './testing/test-pictures.ts';

async function enlarge(model: Uint8Array, size: readonly [number, number], options = {}) {
  const given: SuperResolutionOptions = { device: 'host', ...options };
  await using enlarger = await superResolution(model, given);
  return await enlarger.enlarge(formulaPicture(...size));
}

/** The picture with each pixel four times. */
function fourTimes(width: number, height: number): number[] {
  const { data } = formulaPicture(width, height);
  return Array.from({ length: width * height * 4 }, (_, i) => {
    const [x, y] = [Math.floor((i % (2 * width)) / 2), Math.floor(i / (4 * width))];
    return [...data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3), 255];
  }).flat();
}

test.each([
  ['of any size', ['n', 3, 'h', 'w'], {}],
  ['normalised', ['n', 3, 'h', 'w'], { pictures: { mean: [0.4, 0.5, 0.6], std: [0.2, 0.3, 0.4] } }],
  ['in BGR', [1, 3, 'h', 'w'], { pictures: { channels: 'bgr' } }],
  ['from 0 to 255', [1, 3, 'h', 'w'], { pictures: { scale: 1 } }],
  ['in tiles', [1, 3, 8, 6], {}],
  ['in tiles without margins', [1, 3, 4, 4], { margin: 0 }],
  ['in one tile that is larger', [1, 3, 40, 40], {}],
] as const)('colours come back, %s', async (_, shape, options) => {
  const { width, height, data } = await enlarge(doubled({ shape: [...shape] }), [19, 13], options);
  expect([width, height]).toEqual([38, 26]);
  expect([...data]).toEqual(fourTimes(19, 13));
});

test('channels may come last', async () => {
  const model = doubled({ shape: [1, 'h', 'w', 3], scales: [1, 2, 2, 1] });
  expect([...(await enlarge(model, [5, 4])).data]).toEqual(fourTimes(5, 4));
});

test('tiles give what the whole picture gives, where margins are as wide as the model looks', async () => {
  const whole = await enlarge(doubled({ shape: [1, 3, 'h', 'w'], isSmooth: true }), [31, 17]);
  for (const margin of [1, 2, 16]) {
    const model = doubled({ shape: [1, 3, 9, 7], isSmooth: true });
    const inTiles = await enlarge(model, [31, 17], { margin });
    expect(inTiles).toEqual(whole);
  }
  const without = await enlarge(doubled({ shape: [1, 3, 9, 7], isSmooth: true }), [31, 17], {
    margin: 0,
  });
  expect(without).not.toEqual(whole);
});

test('a model of luma leaves the colours of the picture', async () => {
  const { data } = await enlarge(doubled({ shape: [1, 1, 'h', 'w'] }), [12, 10]);
  const wide = resize(formulaPicture(12, 10), 24, 20, 'bicubic').data;
  const lumaOf = (red = 0, green = 0, blue = 0): number =>
    red * 0.299 + green * 0.587 + blue * 0.114;
  const small = formulaPicture(12, 10).data;
  for (let pixel = 0; pixel < 24 * 20; pixel++) {
    const [red = 0, green = 0, blue = 0] = data.subarray(pixel * 4);
    const isClipped = [red, green, blue].some((level) => level === 0 || level === 255);
    if (isClipped) continue;
    const own = (Math.floor(pixel / 48) * 12 + Math.floor((pixel % 24) / 2)) * 3;
    const [r, g, b] = small.subarray(own);
    expect(Math.abs(lumaOf(red, green, blue) - lumaOf(r, g, b))).toBeLessThan(1.5);
    // The difference of two colours is that of the picture.
    const [wideRed = 0, wideGreen = 0] = wide.subarray(pixel * 3);
    expect(Math.abs(red - green - (wideRed - wideGreen))).toBeLessThanOrEqual(1);
  }
});

test('what is wrong is said', async () => {
  const odd = doubled({ shape: [1, 3, 'h', 'w'], scales: [1, 1, 1.5, 1.5] });
  await expect(enlarge(odd, [4, 4])).rejects.toThrow(
    'the result of the model: got [1, 3, 6, 6] for a picture of 4 x 4, expected one picture of 3 channels, a whole number of times as large.',
  );
  await expect(enlarge(odd, [4, 4], { margin: -1 })).rejects.toThrow(
    'superResolution: got margin -1, expected pixels from 0 up',
  );
  await using enlarger = await superResolution(doubled({ shape: [1, 3, 'h', 'w'] }), {
    device: 'host',
  });
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(enlarger.enlarge(formulaPicture(2, 2), { signal })).rejects.toThrow('enough');
});
