-- Pandoc filter for what a notebook page has beyond pandoc's Markdown: numbered blocks and references to them, proofs,
-- callouts, tabsets, folded code. Whatever is unclear becomes a warning, and a warning stops the build.
local html = FORMAT:match 'html' ~= nil
local theorems = {thm = 'Theorem', lem = 'Lemma', prp = 'Proposition', cor = 'Corollary', cnj = 'Conjecture',
  def = 'Definition', exm = 'Example', exr = 'Exercise', rem = 'Remark', alg = 'Algorithm'}
local names = setmetatable({eq = 'Equation', fig = 'Figure', tbl = 'Table', sec = 'Section'}, {__index = theorems})
local labels, counts, tabsets, cited, refs_placed = {}, {}, 0, false, false
local statement, mains, proofs = nil, {}, {}   -- the last statement that can have a proof; the theorems; the place of the proof of each
local letters, level = '', 1   -- of the page's own statement numbers; of the last heading
local formulas = pandoc.Inlines {}
local warn, raw, Str = pandoc.log.warn, function(text) return pandoc.RawBlock('html', text) end, pandoc.Str

local function kind_of(id)
  local kind = (id:match '^(%a+)%-' or ''):lower()
  return names[kind] and kind
end
local function number(id)   -- gives an id the next number of its kind; returns "Kind n", or "Kind XX n" for a statement
  local kind = kind_of(id)
  if labels[id] then warn('duplicate id ' .. id) end
  counts[kind] = (counts[kind] or 0) + 1
  labels[id] = {name = names[kind], number = (theorems[kind] and letters or '') .. counts[kind]}
  return names[kind] .. ' ' .. labels[id].number
end
local function take_title(div)   -- the first heading of a block, or its title attribute
  local first, title = div.content[1], div.attributes.title
  div.attributes.title = nil
  if first and first.t == 'Header' then return div.content:remove(1).content end
  return title and pandoc.utils.blocks_to_inlines(pandoc.read(title).blocks)
end
local function with_title(head, title)   -- Head (title)
  return title and pandoc.Inlines(head) .. {Str ' ('} .. title .. {Str ')'} or pandoc.Inlines(head)
end
local function title_block(inlines, class)
  return html and pandoc.Div({pandoc.Plain(inlines)}, {class = class}) or pandoc.Para {pandoc.Strong(inlines)}
end
local function heading_block(inlines)   -- a heading, one level below the section's, that the table of contents leaves out
  if not html then return {title_block(inlines)} end
  local tag = 'h' .. math.min(level + 1, 6)
  return {raw(('<%s class="theorem-title">'):format(tag)), pandoc.Plain(inlines), raw(('</%s>'):format(tag))}
end
local function details(open, summary, blocks, class)
  local head = ('<details%s%s><summary>'):format(class and (' class="%s"'):format(class) or '', open and ' open' or '')
  return pandoc.Blocks {raw(head), pandoc.Plain(summary), raw '</summary>'} .. blocks .. {raw '</details>'}
end

local BEHIND = {['In code: '] = 'code', ['Checked: '] = 'code', ['Departures from the paper'] = 'print', References = 'print'}
local function kind_behind(block)   -- of a section that is one line, its heading, which opens
  local text = block.level == 2 and pandoc.utils.stringify(block.content) or ''
  for start, kind in pairs(BEHIND) do
    if text:sub(1, #start) == start then return kind end
  end
end
local function letters_of(tbl)   -- what a table of notation explains: its first column
  local out = pandoc.Inlines {Str 'The letters:', pandoc.Space()}
  for _, body in ipairs(tbl.bodies) do
    for _, row in ipairs(body.body) do
      local words = pandoc.utils.blocks_to_inlines(row.cells[1].contents)
      if #words > 0 then out:extend((#out > 2 and pandoc.Inlines {Str ',', pandoc.Space()} or pandoc.Inlines {}) .. words) end
    end
  end
  return out
end
local function behind(blocks)   -- sections on code, checks, misprints and sources are lines that open, and so is a table of notation
  local out, open, notation = pandoc.Blocks {}, false, false
  for _, block in ipairs(blocks) do
    local head = block.t == 'Header' and block.level <= 2
    local kind = head and kind_behind(block)
    local tbl = notation and block.t == 'Div' and block.classes:includes 'table-scroll' and block.content[1]
    if head and open then out:insert(raw '</details>') end
    if head then open, notation = kind, pandoc.utils.stringify(block.content):match '^Notation' end
    if kind then out:extend {raw(('<details class="behind %s"><summary>'):format(kind)), block, raw '</summary>'}
    elseif tbl then out:extend(details(false, letters_of(tbl), pandoc.Blocks {block}, 'print'))
    else out:insert(block) end
  end
  if open then out:insert(raw '</details>') end
  return out
end

local function checks(blocks)   -- checks that follow each other are one line, with the names of their claims
  local out, run = pandoc.Blocks {}, pandoc.Blocks {}
  local function close()
    local ids = {}
    for _, block in ipairs(run) do table.insert(ids, block.identifier:match '^claim%-(.*)') end
    if #run < 2 then out:extend(run)
    else out:insert(pandoc.Div(details(false, {Str('Checks' .. (#ids > 0 and ': ' or '') .. table.concat(ids, ', '))}, run), {class = 'checks'})) end
    run = pandoc.Blocks {}
  end
  for _, block in ipairs(blocks) do
    local inner = block.t == 'Div' and block.classes:includes 'cell' and block.content[1]
    local words = inner and inner.t == 'Div' and inner.content[2] and inner.content[2].t == 'Plain' and pandoc.utils.stringify(inner.content[2]) or ''
    local is_line = block.t == 'Div' and block.classes:includes 'check-line'
    if is_line or words:match '^Check' or words:match '^The checks run' or words:match '^Code behind the checks' then run:insert(block)
    else close() out:insert(block) end
  end
  close()
  return out
end

local function theorem(div, name)
  local title, kind = take_title(div), kind_of(div.identifier)
  if kind == 'thm' or kind == 'lem' or kind == 'prp' or kind == 'cor' then statement = div.identifier end
  if kind == 'thm' then table.insert(mains, div.identifier) end
  div.classes = {'theorem', name:lower()}
  div.content = pandoc.Blocks(heading_block(with_title(number(div.identifier), title))) .. div.content
  return div
end
local function proved(title)   -- the statement that the title of a proof names, or the last one; its place, if that is another page
  local named, place
  local function keep(id) if not named and theorems[kind_of(id)] then named = id end end
  for _, inline in ipairs(title or {}) do
    local function follow(link)
      if not named and link.target:match '%.ipynb#' then place = link.target end
      keep(link.target:match '#(.*)' or '')
    end
    inline:walk {Cite = function(cite) keep(cite.citations[1].id) end, Link = follow}
    if inline.t == 'Cite' then keep(inline.citations[1].id) elseif inline.t == 'Link' then follow(inline) end
  end
  return named or statement, named and place
end
local LONG, shown = 900, 0   -- characters, TeX included; a longer proof opens with a click, if the page has others
local function steps(blocks)   -- the idea of a proof in its own words: the names of its steps
  local out = pandoc.Inlines {}
  blocks:walk {Emph = function(words)
    local name = pandoc.utils.stringify(words)
    if name:match '^Step' then out:extend(pandoc.Inlines {pandoc.Space()} .. words.content .. {Str(name:match '%.$' and '' or '.')}) end
  end}
  return out
end
local function proof(div)
  local title = take_title(div)
  local head, of, place = pandoc.Emph(with_title('Proof', title) .. {Str '.'}), proved(title)
  if html and of and div.identifier == '' then
    local last = proofs[of]
    div.identifier = last and last .. '-more' or 'proof-' .. of
    proofs[of] = proofs[of] or div.identifier
    while labels[div.identifier] do div.identifier = div.identifier .. '-more' end
    labels[div.identifier] = {}
    head = pandoc.Span {head, pandoc.Space(), pandoc.Link({Str '↑'}, place or '#' .. of, 'What is proved', {class = 'to-statement', ['aria-label'] = 'What is proved'})}
  end
  if html and shown > 1 and not place and #pandoc.utils.stringify(div.content) > LONG then   -- what a page of proofs is for stays open
    div.content = details(false, pandoc.Inlines {head} .. steps(div.content), div.content)
    return div
  end
  if not div.content[1] or div.content[1].t ~= 'Para' then div.content:insert(1, pandoc.Para {}) end
  div.content[1].content = pandoc.Inlines {head, pandoc.Space()} .. div.content[1].content
  return div
end
local function callout(div, kind)
  local title, collapse = take_title(div) or pandoc.Inlines((kind:gsub('^%l', string.upper))), div.attributes.collapse
  div.classes, div.attributes = {'callout', 'callout-' .. kind}, {}
  if collapse and html then div.content = details(collapse ~= 'true', title, div.content)
  else div.content:insert(1, title_block(title, 'callout-title')) end
  return div
end
local function tabset(div)   -- without a script: radio buttons, labels and panels; the style sheet shows the chosen panel
  local level, out, n = div.content[1] and div.content[1].level, pandoc.Blocks {}, 0
  if not level then return warn 'a tabset must begin with a heading' end
  tabsets = tabsets + 1
  for _, block in ipairs(div.content) do
    if block.t == 'Header' and block.level == level then
      n = n + 1
      local id, input = ('tabset-%d-%d'):format(tabsets, n), '<input type="radio" name="tabset-%d" id="%s"%s><label for="%s">'
      out:insert(raw(input:format(tabsets, id, n == 1 and ' checked' or '', id)))
      out:extend {pandoc.Plain(block.content), raw '</label>', pandoc.Div({}, {class = 'tab-panel'})}
    else out[#out].content:insert(block) end
  end
  return pandoc.Div(out, {class = 'panel-tabset'})
end
local function code(div)
  local fold, summary = div.attributes.fold, div.attributes.summary or 'Code'
  if html then div.attributes = {} end
  if fold and html then div.content = details(fold == 'show', pandoc.Inlines(summary), div.content) end
  return div
end
local function float(id, blocks, text)   -- a figure or table with its caption
  local head = kind_of(id) and pandoc.Inlines(number(id) .. ': ') or pandoc.Inlines {}
  local alt, class = {Str(pandoc.utils.stringify(text))}, blocks[1] and blocks[1].t == 'Table' and 'float table' or 'float'
  blocks = blocks:walk {Image = function(img) if #img.caption == 0 then img.caption = alt end return img end}
  return pandoc.Figure(blocks, {long = {pandoc.Plain(head .. text)}}, {id = id, class = class})
end
local function float_div(div)   -- the same written as a block, whose last paragraph is the caption
  local last = div.content:remove()
  if not last or last.t ~= 'Para' then return warn('no caption in the block ' .. div.identifier) end
  return float(div.identifier, div.content, last.content)
end
local function equations(list)   -- $$ ... $$ {#eq-name}
  local out, i = pandoc.Inlines {}, 1
  while i <= #list do
    local item, gap = list[i], list[i + 1] and list[i + 1].t ~= 'Str' and 1 or 0
    local tail = item.mathtype == 'DisplayMath' and list[i + 1 + gap]
    local id, rest = (tail and tail.text or ''):match '^{#(eq%-[%w_%-]+)}(.*)$'
    if id then
      number(id)
      item.text = item.text:gsub('%s+$', '') .. (' \\tag{%s}'):format(labels[id].number)
      item, i = pandoc.Span({item}, {id = id, class = 'equation'}), i + 1 + gap
    end
    out:insert(item)
    if id and rest ~= '' then out:insert(Str(rest)) end
    i = i + 1
  end
  return out
end

local check = {
  Meta = function(meta)
    if meta.statements then letters = pandoc.utils.stringify(meta.statements) .. '\u{a0}' end
  end,
  Math = function(m) formulas:insert(m) end,
  Div = function(div) if div.classes:includes 'proof' then shown = shown + 1 end end,
  Str = function(str)   -- the id of a claim, such as E-D5, stays on one line
    if str.text:match '^%(?%u%-%u+%d+%w?[%p]*$' then return pandoc.Span({str}, {class = 'id'}) end
  end,
  Image = function(img)
    local alt = img.attributes['fig-alt']
    if alt then img.caption, img.attributes['fig-alt'] = {Str(alt)}, nil end
    return img
  end,
  RawBlock = function(block) if block.text:match '^<!%-%-' then return {} end end,
}
local build = {
  traverse = 'topdown',
  Div = function(div)
    local kind, has = kind_of(div.identifier), function(class) return div.classes:includes(class) end
    local box = div.classes:find_if(function(class) return class:match '^callout%-' and class ~= 'callout-title' end)
    if theorems[kind] then return theorem(div, theorems[kind])
    elseif kind == 'fig' or kind == 'tbl' or has 'captioned' then return float_div(div)
    elseif has 'proof' then return proof(div)
    elseif has 'panel-tabset' and html then return tabset(div)
    elseif has 'cell-code' then return code(div)
    elseif box then return callout(div, box:sub(9)) end
    refs_placed = refs_placed or div.identifier == 'refs'
  end,
  Figure = function(fig)
    if not fig.classes:includes 'float' then return float(fig.identifier, fig.content, pandoc.utils.blocks_to_inlines(fig.caption.long)) end
  end,
  Table = function(tbl)   -- columns take the width they need, whatever the length of the lines in the source
    local id, text = tbl.identifier, pandoc.utils.blocks_to_inlines(tbl.caption.long)
    tbl.identifier, tbl.caption.long = '', {}
    tbl.colspecs = tbl.colspecs:map(function(spec) return {spec[1], nil} end)
    return #text > 0 and float(id, pandoc.Blocks {tbl}, text) or tbl
  end,
  Header = function(head)
    level = head.level
    if pandoc.utils.stringify(head.content):lower():match '%f[%a]proofs?%f[%A]' then   -- a section that proves the theorems above it
      for _, id in ipairs(mains) do
        if not proofs[id] then statement, proofs[id] = id, head.identifier end
        if proofs[id] == head.identifier and not pandoc.utils.stringify(head.content):match '[Pp]roofs' then break end
      end
    end
    if kind_of(head.identifier) == 'sec' then labels[head.identifier] = {title = head.content} end
  end,
  Inlines = equations,
}

local function reference(cite)
  local id = cite.id:gsub('^%u', string.lower)
  local label, text = labels[id], nil
  if not label then warn('unknown reference @' .. cite.id) return Str '??'
  elseif label.title then text = label.title
  elseif cite.mode == 'SuppressAuthor' then text = {Str(label.number)}
  else text = (#cite.prefix > 0 and cite.prefix or pandoc.Inlines(label.name)) .. {Str('\u{a0}' .. label.number)} end
  local suffix = #cite.suffix > 0 and pandoc.Inlines {Str ' ['} .. cite.suffix .. {Str ']'} or {}
  return pandoc.Inlines {pandoc.Link(text, '#' .. id, '', {class = 'ref'})} .. suffix
end
local resolve = {
  Div = function(div)   -- a statement says where its proof is
    local to = div.classes:includes 'theorem' and proofs[div.identifier]
    if to then div.content[2].content:extend {pandoc.Space(), pandoc.Link({Str 'Proof'}, '#' .. to, '', {class = 'to-proof'})} end
    return div
  end,
  Cite = function(cite)   -- references become links; what is left goes on to citeproc
    local out, rest, was_ref = pandoc.Inlines {}, nil, nil
    for i, item in ipairs(cite.citations) do
      local is_ref = kind_of(item.id)
      if i > 1 and is_ref and was_ref then out:insert(Str ', ') elseif i > 1 and (is_ref or was_ref) then out:insert(pandoc.Space()) end
      if is_ref then out:extend(pandoc.Inlines(reference(item)))
      elseif rest and not was_ref then rest.citations:insert(item)
      else rest, cited = pandoc.Cite({Str('@' .. item.id)}, {item}), true out:insert(rest) end
      was_ref = is_ref
    end
    return out
  end,
  Table = function(tbl) return pandoc.Div({tbl}, {class = 'table-scroll'}) end,
  Pandoc = function(doc)   -- pandoc warns about TeX it cannot read, which MathJax would show in red
    pandoc.write(pandoc.Pandoc {pandoc.Plain(formulas)}, 'html', {html_math_method = 'mathml'})
    if cited and not refs_placed then doc.blocks:extend {pandoc.Header(2, 'References', {id = 'references'}), pandoc.Div({}, {id = 'refs'})} end
    if cited then doc = pandoc.utils.citeproc(doc) end
    if html then doc.blocks = behind(checks(doc.blocks)) end
    return doc
  end,
}
local readme = {   -- the front page as README.md: links as seen from the top of the repository, and its one picture
  Link = function(link)
    if link.target:find '^reference/' then return link.content end   -- made for the site, no file of the repository
    if not link.target:find ':' and not link.target:find '^#' then link.target = 'nbs/' .. link.target end
    return link
  end,
  Figure = function(fig)
    local alt = {}
    fig:walk {Image = function(img) alt = img.caption end}
    return {pandoc.Para {pandoc.Image(alt, 'nbs/front.svg')}, pandoc.Para(pandoc.utils.blocks_to_inlines(fig.caption.long))}
  end,
}
return FORMAT:match 'gfm' and {check, build, resolve, readme} or {check, build, resolve}
