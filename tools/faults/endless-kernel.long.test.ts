import { beforeAll, describe, expect, test } from 'vitest';
import type { EndlessFindings } from './find-endless.ts';
import { runEndlessKernel } from './run-endless-kernel.ts';

/** What takes so long on a busy machine hangs. */
const HANGS_MS = 60_000;

describe.each([{ workgroups: 1 }, { workgroups: 64 }])(
  'an endless kernel of $workgroups workgroups beside an innocent session, in Node',
  ({ workgroups }) => {
    let findings: EndlessFindings;
    beforeAll(async () => {
      findings = await runEndlessKernel(workgroups);
    }, 100_000);

    test('every run on the device rejects in time and names the kernel', () => {
      expect(findings.before.value).toEqual([2, 4, 6, 8]);
      const named =
        /^DeviceLostError: WebGPU device: got no answer in 2000 ms, at work on the kernels .*endless/;
      expect(findings.run.error).toMatch(named);
      expect(findings.waited.error).toBe(findings.run.error);
      expect(findings.lostMs).toBeLessThan(HANGS_MS);
    });

    test('an abort takes effect at once', () => {
      expect(findings.abortedRun.error).toBe('Error: enough');
      expect(findings.abortedRun.ms).toBeLessThan(HANGS_MS);
    });

    test('disposal does not wait for the kernel', () => {
      for (const disposal of [findings.disposal, findings.earlyDisposal]) {
        expect(disposal.error).toBeUndefined();
        expect(disposal.ms).toBeLessThan(HANGS_MS);
      }
    });

    // Processors that a software adapter computes with are lost for as long as the process lives: all of
    // them to 64 workgroups, some to one, beside which a new device works or does not, as it happens.
    test('later sessions have a device that works, or are told that there is none, or run on the processor', () => {
      const reason =
        "WebGPU: got no working device in 2000 ms: the GPU's driver is stuck with a kernel that does not end, expected an adapter and a device. Restart this process, or use the host device.";
      const software =
        "device 'auto': got WebGPU on SwiftShader, a software adapter, expected graphics hardware. Request it with device: 'webgpu'.";
      const told = [{ error: `DeviceError: ${reason}` }, { value: ['wasm', reason, 2, 4, 6, 8] }];
      const works = [
        { value: ['webgpu', null, 2, 4, 6, 8] },
        { value: ['wasm', software, 2, 4, 6, 8] },
      ];
      const [nextTold, autoTold] = told;
      const [nextWorks, autoWorks] = works;
      const { ms: nextMs, ...next } = findings.next;
      const { ms: autoMs, ...auto } = findings.auto;
      expect(workgroups === 1 ? [nextTold, nextWorks] : [nextTold]).toContainEqual(next);
      expect(workgroups === 1 ? [autoTold, autoWorks] : [autoTold]).toContainEqual(auto);
      expect(Math.max(nextMs, autoMs)).toBeLessThan(HANGS_MS);
    });
  },
);
