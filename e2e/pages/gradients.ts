import { measureOperator } from '../../scripts/show/gradients/measure-operator.ts';
import { measureProgram } from '../../scripts/show/gradients/measure-program.ts';
import type { GradientPage } from '../../scripts/show/gradients/open-gradient-page.ts';
import { createWebGpuDevice } from '../../src/device/webgpu/webgpu-device.ts';
import { CORE_OPERATORS } from '../../src/ops/tables/core-operators.ts';

const device = await createWebGpuDevice({ gpu: navigator.gpu, operators: CORE_OPERATORS });

const page: GradientPage['weftGradients'] = {
  measure: (kind, name) =>
    (kind === 'operator' ? measureOperator : measureProgram)(name, { Chromium: device }),
};

Object.assign(globalThis, { weftGradients: page });
document.documentElement.dataset['ready'] = 'true';
