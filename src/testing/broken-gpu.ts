/** A store into the buffer of a number: the buffer, the place, the value. */
const STORE = /\b(buffer\d+)\[([^\]=]+)\] = ([^;]+);/g;

/** WebGPU with a kernel that is wrong. */
interface BrokenGpu {
  readonly gpu: GPU;
  /** Labels of the shaders that were made wrong. */
  readonly broken: ReadonlySet<string>;
}

/**
 * WebGPU, real below, on which kernels of some labels store every seventh element, or group of four, a twentieth too large, an
 * integer by one. No element is NaN for it.
 */
export function brokenGpu(real: GPU, isBroken: (label: string) => boolean): BrokenGpu {
  const broken = new Set<string>();
  const requestAdapter: GPU['requestAdapter'] = async (options) => {
    const adapter = await real.requestAdapter(options);
    const requestDevice = adapter?.requestDevice.bind(adapter);
    return Object.assign(adapter ?? {}, {
      async requestDevice(descriptor: GPUDeviceDescriptor) {
        const device = await requestDevice?.(descriptor);
        const create = device?.createShaderModule.bind(device);
        return Object.assign(device ?? {}, {
          createShaderModule({ label = '', code }: GPUShaderModuleDescriptor) {
            if (!isBroken(label)) return create?.({ label, code });
            const wrong = breakCode(code);
            if (wrong !== code) broken.add(label);
            return create?.({ label, code: wrong });
          },
        });
      },
    }) as GPUAdapter;
  };
  return { gpu: Object.create(real, { requestAdapter: { value: requestAdapter } }), broken };
}

function breakCode(code: string): string {
  const targets = [...code.matchAll(STORE)].map(([, buffer = '']) => buffer);
  const output = targets.toSorted((a, b) => Number(a.slice(6)) - Number(b.slice(6))).at(-1);
  const [, type] = new RegExp(`${output}: array<([^;]+)>;`).exec(code) ?? [];
  if (output === undefined || type === undefined) return code;
  const isFloat = /f32|f16/.test(type);
  const element = type.replace(/^vec[24]<(.*)>$/, '$1');
  const [none, some] = isFloat ? ['1', '1.05'] : ['0', '1'];
  return code.replace(STORE, (whole, buffer: string, place: string, value: string) => {
    if (buffer !== output) return whole;
    const change = `${element}(select(${none}, ${some}, (${place}) % 7u == 3u))`;
    return `${buffer}[${place}] = (${value}) ${isFloat ? '*' : '+'} ${change};`;
  });
}
