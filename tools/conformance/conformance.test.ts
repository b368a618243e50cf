import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { writeOnnxModel, writeOnnxTensor } from '../../src/testing/onnx-writer.ts';
import type { Outcome } from './conformance-case.ts';
import { findCases, type FoundCase } from './find-cases.ts';
import { formatReport } from './report.ts';
import { runCase } from './run-case.ts';

function run(found: FoundCase): Promise<Outcome[]> {
  const read = async (file: string) => new Uint8Array(readFileSync(join(found.folder, file)));
  return runCase(found, { device: 'host', worker: false, read });
}

describe('a folder of cases', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'weft-conformance-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function writeCase(name: string, op: string, expected: readonly number[]): void {
    const folder = join(root, 'node', name);
    mkdirSync(join(folder, 'test_data_set_0'), { recursive: true });
    const model = writeOnnxModel({
      inputs: [{ name: 'x', shape: ['n'] }],
      nodes: [{ op, inputs: ['x'], outputs: ['y'] }],
      outputs: ['y'],
    });
    const tensor = (values: readonly number[]) => HostTensor.from('float32', [2], values);
    writeFileSync(join(folder, 'model.onnx'), model);
    writeFileSync(join(folder, 'test_data_set_0/input_0.pb'), writeOnnxTensor(tensor([-1, 2])));
    writeFileSync(join(folder, 'test_data_set_0/output_0.pb'), writeOnnxTensor(tensor(expected)));
  }

  test('is reported by operator, with one line of reason for each failure', async () => {
    writeCase('relu', 'Relu', [0, 2]);
    writeCase('relu_wrong', 'Relu', [0, 2.5]);
    writeCase('unknown', 'ImageDecoder', [0, 2]);
    const outcomes: Outcome[] = [];
    for (const found of findCases(root)) outcomes.push(...(await run(found)));
    expect(formatReport(outcomes)).toMatchInlineSnapshot(`
      "operator       passed   failed  skipped
      ImageDecoder        0        1        0
      Relu                1        1        0

      Nodes on the host device
        all nodes (the session runs there, as asked) in 2 data sets

      Failures
        node/relu_wrong test_data_set_0: output "y": 1 of 2 elements differ; the worst is at 1: got 2, expected 2.5 (rtol 0.001, atol 0.00001)
        node/unknown test_data_set_0: UnsupportedError: ONNX model: got 1 node of an unsupported operator (ImageDecoder), expected operators that Weft has:; node "y" (ImageDecoder)

      1 passed, 2 failed, 0 skipped"
    `);
  });

  test('that does not exist, or holds none', () => {
    const missing = join(root, 'missing');
    expect(() => findCases(missing)).toThrow(`The folder ${missing} does not exist.`);
    expect(() => findCases(root)).toThrow('has a model.onnx with data sets.');
  });
});
