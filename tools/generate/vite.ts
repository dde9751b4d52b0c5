import { build, type InlineConfig, type Rolldown } from 'vite';
import type { GeneratedFile } from './output.ts';

/** Builds for production. @param folder below `generated/`, for each of the built files */
export async function buildFor(folder: string, config: InlineConfig): Promise<GeneratedFile[]> {
  const before = process.env['NODE_ENV'];
  // Vite obeys it, and tests set it.
  process.env['NODE_ENV'] = 'production';
  try {
    const options = { ...config, logLevel: 'warn', build: { ...config.build, write: false } } as const;
    const built = (await build(options)) as Rolldown.RolldownOutput | Rolldown.RolldownOutput[];
    return [built].flat().flatMap(({ output }) => output.map((file) => toFile(folder, file)));
  } finally {
    if (before === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = before;
  }
}

function toFile(folder: string, file: Rolldown.OutputChunk | Rolldown.OutputAsset): GeneratedFile {
  const content = file.type === 'chunk' ? file.code : file.source;
  const text = typeof content === 'string' ? content : Buffer.from(content).toString();
  return { file: `${folder}/${file.fileName}`, content: text };
}
