import { expect, testOfPage as test } from './fixtures.ts';
import type { DevicePage } from './pages/device.ts';

test.use({ address: '/e2e/pages/device.html' });

for (const place of ['inPage', 'inWorker'] as const) {
  test(`the WebGPU device computes, reports faults and loss: ${place}`, async ({ page }) => {
    const findings = await page.evaluate((name) => {
      const { weftDevice } = globalThis as unknown as { weftDevice: DevicePage };
      return weftDevice[name]();
    }, place);
    expect(findings).toMatchObject({
      result: [2, 3, 4],
      launchesProfiled: 1,
      repeatedRunCreated: 0,
      otherBuffer: [1, 2, 3],
    });
    expect(findings.brokenShader).toMatch(/^DeviceError: shader broken does not compile: line 8:/);
    expect(findings.brokenShader).toContain('y[i] = missing(a[i]);');
    expect(findings.refusedLaunch).toMatch(/^DeviceError: launch: the GPU refused:/);
    expect(findings.readAfterRefusal).toBe(findings.refusedLaunch);
    expect(findings.uncaughtError).toMatch(/^DeviceError: WebGPU: the GPU refused:/);
    expect(findings.readWhenLost).toMatch(/^DeviceLostError: WebGPU device: got a lost device/);
    expect(findings.launchAfterLoss).toBe(findings.readWhenLost);
  });
}
