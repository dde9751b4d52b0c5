/** The style of single-task pages: payments, accounts and agents. */
export const PAYMENT_STYLE = `
  :root {
    color-scheme: light dark;
    --ink: #16202b; --soft: #566472; --line: #d5dde6; --field: #8493a3; --ground: #eef2f6; --paper: #fff;
      --well: #f6f8fa;
    --accent: #0b5fae; --on-accent: #fff; --accent-deep: #084a89;
    --warn: #5c3b00; --warn-ground: #ffe8b8; --warn-line: #e8b44c;
    --bad: #a81322; --bad-ground: #fdecee; --bad-line: #eda5ad; --good: #14713c; --good-ground: #e3f5ea;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --ink: #e8eef4; --soft: #a3b1bf; --line: #2b3846; --field: #66778a; --ground: #0c121a; --paper: #151e29;
        --well: #1b2633;
      --accent: #6db3f8; --on-accent: #06182a; --accent-deep: #92c7fb;
      --warn: #ffdf9e; --warn-ground: #3a2a08; --warn-line: #7a5b19;
      --bad: #ff9aa4; --bad-ground: #3a151a; --bad-line: #7d3039; --good: #6fdc9b; --good-ground: #12301f;
    }
  }
  *, *::before, *::after { box-sizing: border-box; }
  html { -webkit-text-size-adjust: 100%; }
  body { margin: 0; background: var(--ground); color: var(--ink);
    font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
  a { color: var(--accent); text-underline-offset: .18em; }
  a:hover { color: var(--accent-deep); }
  :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
  h1, h2, p, dl, dd, ul { margin: 0; padding: 0; }
  code { font: .95em ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
  .soft { color: var(--soft); }
  .small { font-size: .875rem; }
  .test-mode { background: var(--warn-ground); color: var(--warn); border-bottom: 1px solid var(--warn-line);
    padding: .6rem 1.25rem; text-align: center; font-size: .9375rem; }
  .test-mode strong { letter-spacing: .06em; font-size: .8125rem; margin-right: .35em; }
  main { max-width: 60rem; margin: 0 auto; padding: 3rem 1.25rem 4rem; }
  main.narrow { max-width: 36rem; }
  .sides { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); gap: 3.5rem; align-items: start; }
  .back { display: inline-flex; align-items: center; gap: .45rem; min-height: 2.75rem; margin-bottom: .75rem;
    color: var(--soft); text-decoration: none; }
  .back:hover { color: var(--ink); text-decoration: underline; }
  .product, .price { display: block; }
  .summary h1 { line-height: 1.3; font-weight: inherit; font-size: 1rem; }
  .product { font-size: 1.0625rem; font-weight: 500; color: var(--soft); overflow-wrap: anywhere; }
  .price { font-size: 2.75rem; line-height: 1.15; font-weight: 650; letter-spacing: -.02em;
    margin: .35rem 0 .25rem; overflow-wrap: anywhere;
    font-variant-numeric: tabular-nums; }
  .price .period { font-size: 1rem; font-weight: 400; letter-spacing: 0; color: var(--soft); white-space: nowrap; }
  .lines { border-top: 1px solid var(--line); margin-top: 1.75rem; }
  .lines > div { display: flex; justify-content: space-between; gap: 1.5rem; padding: .8rem 0;
    border-bottom: 1px solid var(--line); }
  .lines dt { color: var(--soft); flex: none; }
  .lines dd { text-align: right; overflow-wrap: anywhere; min-width: 0; font-variant-numeric: tabular-nums; }
  .lines .total { font-weight: 650; } .lines .total dt { color: inherit; }
  .card { background: var(--paper); border: 1px solid var(--line); border-radius: 16px; padding: 2rem;
    box-shadow: 0 1px 2px rgb(16 32 48 / .05), 0 12px 32px -12px rgb(16 32 48 / .14); }
  .card h1, .card h2 { font-size: 1.375rem; line-height: 1.25; letter-spacing: -.01em; }
  .card h1 + *, .card h2 + * { margin-top: 1.25rem; }
  .field { margin-top: 1.1rem; }
  .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; }
  label { display: block; font-weight: 550; font-size: .9375rem; margin-bottom: .35rem; }
  input { width: 100%; height: 3rem; padding: 0 .9rem; font: inherit; color: inherit; background: var(--paper);
    border: 1px solid var(--field); border-radius: 10px; font-variant-numeric: tabular-nums; }
  input::placeholder { color: var(--soft); opacity: .8; }
  input:focus { outline: 3px solid var(--accent); outline-offset: -1px; border-color: transparent; }
  input[aria-invalid] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad); }
  .choice { display: flex; align-items: flex-start; gap: .7rem; margin-top: 1.25rem; font-weight: 400; }
  .choice input { flex: none; width: 1.25rem; height: 1.25rem; margin: .1rem 0 0; accent-color: var(--accent); }
  .fault { color: var(--bad); font-size: .875rem; margin-top: .4rem; }
  .fault::before { content: "! "; font-weight: 700; }
  .alert { background: var(--bad-ground); border: 1px solid var(--bad-line); color: var(--bad);
    border-radius: 10px; padding: .8rem 1rem; }
  .button { display: flex; align-items: center; justify-content: center; gap: .5rem; width: 100%;
    min-height: 3.25rem; padding: .6rem 1.25rem; font: inherit;
    font-size: 1.0625rem; font-weight: 600; color: var(--on-accent); background: var(--accent);
      border: 1px solid transparent; border-radius: 10px;
    cursor: pointer; text-decoration: none; text-align: center; overflow-wrap: anywhere; }
  .button:hover { background: var(--accent-deep); color: var(--on-accent); }
  .button.plain { color: var(--ink); background: transparent; border-color: var(--field); }
  .button.plain:hover { background: var(--well); color: var(--ink); }
  .button.slim { width: auto; min-height: 2.75rem; font-size: .9375rem; padding: .35rem 1rem; }
  .actions { display: grid; gap: .75rem; margin-top: 1.75rem; }
  .fine { margin-top: 1rem; text-align: center; }
  .test-cards { margin-top: 1.75rem; background: var(--well); border: 1px dashed var(--field);
    border-radius: 12px; padding: .35rem 1.1rem; }
  .test-cards summary { cursor: pointer; font-weight: 550; min-height: 2.75rem; display: flex;
    align-items: center; justify-content: space-between; gap: 1rem; list-style: none; }
  .test-cards summary::-webkit-details-marker { display: none; }
  .test-cards summary::after { content: ""; width: .55rem; height: .55rem; margin-right: .2rem;
    border: solid var(--soft); border-width: 0 2px 2px 0; transform: rotate(45deg) translate(-2px, -2px); }
  .test-cards[open] summary::after { transform: rotate(225deg) translate(-2px, -2px); }
  .test-cards li { list-style: none; display: flex; flex-wrap: wrap; justify-content: space-between;
    align-items: baseline; gap: 0 1rem; padding: .5rem 0; border-top: 1px solid var(--line); font-size: .9375rem; }
  .test-cards li code { user-select: all; -webkit-user-select: all; white-space: nowrap; }
  .test-cards p { padding: .5rem 0 .7rem; border-top: 1px solid var(--line); }
  .badge { display: grid; place-items: center; width: 3.5rem; height: 3.5rem; border-radius: 50%;
    background: var(--good-ground); color: var(--good); margin-bottom: 1.25rem; }
  .badge.bad { background: var(--bad-ground); color: var(--bad); } .badge.wait { background: var(--warn-ground);
    color: var(--warn); }
  .badge svg { width: 1.75rem; height: 1.75rem; }
  .tools { margin-top: 1.5rem; background: transparent; border: 1px dashed var(--field); border-radius: 16px;
    padding: 1.5rem 2rem; }
  .tools h2 { font-size: 1.0625rem; } .tools h2 + p { margin-top: .35rem; }
  .tools section { margin-top: 1.1rem; padding-top: 1.1rem; border-top: 1px solid var(--line); }
  .tools form { display: flex; flex-wrap: wrap; gap: .6rem; margin-top: .7rem; }
  .code { font: 650 2.75rem/1.2 ui-monospace, "SF Mono", Menlo, Consolas, monospace; letter-spacing: .12em;
    margin: 1.25rem 0; padding: 1rem; text-align: center;
    background: var(--well); border: 1px solid var(--line); border-radius: 10px; user-select: all;
      -webkit-user-select: all; }
  .may { margin-top: .5rem; padding-left: 1.25rem; } .may li { margin-top: .25rem; }
  .card p + p, .card ul + p, .lines + p { margin-top: .75rem; } .actions + .actions { margin-top: .75rem; }
  .bank { border-top: 6px solid var(--accent); }
  @media (max-width: 48rem) {
    main { padding-top: 1.25rem; }
    .sides { grid-template-columns: minmax(0, 1fr); gap: 1.75rem; }
    .price { font-size: 2.25rem; }
    .summary .lines { margin-top: 1.1rem; }
    .card { padding: 1.4rem 1.15rem; } .tools { padding: 1.25rem 1.15rem; }
    .tools .button.slim { width: 100%; }
  }
  @media print { .test-cards, .tools, .actions, .back { display: none; } body { background: none; }
  .card { box-shadow: none; } }`;
