import type { ConformancePage } from '../../tools/conformance/engines/browser-engine.ts';
import { describeEngine, runOperators } from '../../tools/conformance/engines/engine-program.ts';
import { keepDevice } from '../../tools/conformance/keep-device.ts';
import { runCase } from '../../tools/conformance/run-case.ts';

const page: ConformancePage['weftConformance'] = {
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
  describe: () => describeEngine(navigator.gpu),
  runOperators: (sample) => runOperators(navigator.gpu, sample),
};

await keepDevice({ device: 'webgpu', worker: true });
Object.assign(globalThis, { weftConformance: page });
document.documentElement.dataset['ready'] = 'true';
