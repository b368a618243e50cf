import { expect, test } from 'vitest';
import { FormatError, UsageError } from '../errors.ts';
import { hubAdvice } from '../parse-url.ts';
import { checkLooksLikeOnnx, parseJsonObject, sniff } from './sniff.ts';

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

test.each([
  ['', 'no bytes at all'],
  ['\n<!DOCTYPE html><html>', 'a page of HTML, or other markup'],
  ['version https://git-lfs.github.com/spec/v1\noid', 'a pointer of Git LFS instead of the file'],
  ['PK\x03\x04\x14\0', 'a ZIP archive, such as PyTorch writes'],
  ['\x80\x02}q\0', 'a pickle of Python, such as PyTorch writes'],
  ['\x1c\0\0\0TFL3\0\0', 'a TensorFlow Lite model'],
  ['{"format": "graph-model", ', 'a TensorFlow.js model'],
  ['GGUF\x03\0\0\0', 'a GGUF file'],
  ['\x40\0\0\0\0\0\0\0{"a":{"dtype"', 'a safetensors file'],
  ['<\x03\0\0\0\0\0\0{"a":{"dtype"', 'a safetensors file'],
  ['\x89PNG\r\n\x1a\n', 'a picture'],
  ['\xff\xd8\xff\xe0\0\x10JFIF', 'a picture'],
  ['\x1f\x8b\x08\0', 'a file packed by gzip'],
  ['{"model_type": "bert"}', 'JSON'],
  ['Not Found, sorry', 'a text that begins with "Not Found, sorry"'],
])('%j', (text, what) => {
  expect(sniff(bytes(text))?.what).toBe(what);
});

test('what may be a model is none of these', () => {
  expect(sniff(bytes('\x08\x07\x12\x07pytorch'))).toBeUndefined();
  expect(() => checkLooksLikeOnnx(bytes('\x08\x07\x12\x07pytorch'), 'm')).not.toThrow();
  expect(() => checkLooksLikeOnnx(bytes('PK\x03\x04'), 'm.onnx')).toThrow(
    'm.onnx: got a ZIP archive, such as PyTorch writes, expected a .weft executable or an .onnx model. Unpack it. A PyTorch model becomes an ONNX model by torch.onnx.export.',
  );
  expect(() => checkLooksLikeOnnx(bytes('\xfe\0\x01'), 'm')).toThrow(
    'got bytes that begin with fe 00 01',
  );
});

test('a file that should hold JSON is named as well', () => {
  expect(() => parseJsonObject('config.json', bytes('<html>'))).toThrow(
    'config.json: got a page of HTML, or other markup, expected an object in JSON. This is markup: the server answered with a page. Check the address.',
  );
  expect(() => parseJsonObject('config.json', bytes('{"a"'))).toThrow(
    'config.json: got no JSON, expected an object in JSON.',
  );
});

test('no message is longer than 2,000 characters, and no value in it than 80', () => {
  expect(new FormatError('x'.repeat(5000)).message).toMatch(/^x{1950}… \(3050 more characters\)$/);
  const list = Array.from({ length: 500 }, (_, i) => i).join(',');
  const got = `the name ${JSON.stringify('y'.repeat(500))} and [${list}]`;
  expect(new UsageError({ got, expected: 'less' }).message).toBe(
    `got the name "${'y'.repeat(78)}… and [${list.slice(0, 79)}…], expected less.`,
  );
});

test('a name of a hub is told that there is none', () => {
  expect(hubAdvice('Xenova/bert-base')).toMatch(
    /^There is no hub behind names: .*resolve\/main\/\.$/,
  );
  for (const other of ['/models/bert/', './models/bert', 'https://a.b/c', 'models/a/b']) {
    expect(hubAdvice(other)).toBeUndefined();
  }
});
