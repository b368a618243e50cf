import { UsageError } from '../../../core/errors.ts';

/** A buffer or texture of the page, and how kernels would bind it. */
interface ProbedBinding {
  readonly where: string;
  /** The kind of resource in messages: `a texture`. */
  readonly kind: string;
  readonly layout: Omit<GPUBindGroupLayoutEntry, 'binding' | 'visibility'>;
  readonly resource: () => GPUBindingResource;
}

const COMPUTE = 0x4;

/**
 * Rejects with UsageError for what cannot be bound on `device`. WebGPU has no other way to ask whose a buffer or a texture is. The
 * scope is closed before anything is awaited, so that it catches no error of the page.
 */
export async function probeBinding(
  device: GPUDevice,
  { where, kind, layout, resource }: ProbedBinding,
): Promise<void> {
  let thrown: unknown;
  device.pushErrorScope('validation');
  try {
    const entry = { binding: 0, visibility: COMPUTE, ...layout };
    device.createBindGroup({
      label: where,
      layout: device.createBindGroupLayout({ label: where, entries: [entry] }),
      entries: [{ binding: 0, resource: resource() }],
    });
  } catch (error) {
    thrown = error;
  }
  const popped = await device.popErrorScope();
  if (popped === null && thrown === undefined) return;
  const cause = thrown ?? popped;
  const message = (cause instanceof Error ? cause.message : popped?.message)?.trim();
  throw new UsageError(
    {
      where,
      got: `${kind} of another device (${message?.split('\n', 1)[0]})`,
      expected: 'one of the device that the session was loaded with',
      remedy: 'Make it with createBuffer or createTexture of that device.',
    },
    { cause },
  );
}
