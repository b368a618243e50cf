import type { ConformancePage } from '../../scripts/conformance/browser-runner.ts';
import { keepDevice } from '../../scripts/conformance/keep-device.ts';
import { runCase } from '../../scripts/conformance/run-case.ts';

const page: ConformancePage['weftConformance'] = {
  async adapterName() {
    const adapter = await navigator.gpu?.requestAdapter();
    if (!adapter) throw new Error('This browser has no WebGPU adapter.');
    const { vendor, architecture, description } = adapter.info;
    return [vendor, architecture, description].filter((part) => part !== '').join(' ');
  },
  run(files, baseUrl) {
    return runCase(files, {
      device: 'webgpu',
      worker: true,
      async read(file) {
        const response = await fetch(baseUrl + encodeURI(file));
        if (!response.ok) throw new Error(`${file}: HTTP status ${response.status}`);
        return new Uint8Array(await response.arrayBuffer());
      },
    });
  },
};

await keepDevice({ device: 'webgpu', worker: true });
Object.assign(globalThis, { weftConformance: page });
document.documentElement.dataset['ready'] = 'true';
